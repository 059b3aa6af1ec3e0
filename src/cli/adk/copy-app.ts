import { App } from '../../adk/index.ts';
import { omitUndefined } from '../../core/internal.ts';

/** The app with another name or other plugins. */
export function copyApp(
  app: App,
  { name = app.name, plugins = app.plugins }: Partial<Pick<App, 'name' | 'plugins'>>,
): App {
  const { rootAgent, contextCacheConfig, resumabilityConfig, eventsCompactionConfig } = app;
  const { outcomes } = app;
  return new App({
    name,
    rootAgent,
    plugins,
    resumabilityConfig,
    ...omitUndefined({ contextCacheConfig, eventsCompactionConfig, outcomes }),
  });
}
