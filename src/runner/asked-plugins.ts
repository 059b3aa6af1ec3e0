import type { BasePlugin } from './base-plugin.ts';
import { overrides } from './base-plugin.ts';
import type { InvocationContext } from './contexts.ts';
import { PluginError } from './runner-errors.ts';

/** An app's plugins as they are asked about an invocation as a whole. */
export class AskedPlugins {
  readonly #plugins: readonly BasePlugin[];

  constructor(plugins: readonly BasePlugin[]) {
    this.#plugins = plugins;
  }

  /** What the first plugin says that says something. @throws PluginError */
  async first<T>(
    callback: 'onUserMessageCallback' | 'beforeRunCallback' | 'onEventCallback',
    ask: (plugin: BasePlugin) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    for (const plugin of this.#plugins) {
      if (!overrides(plugin, callback)) continue;
      const said = await guarded(plugin.name, callback, async () => ask(plugin));
      if (said !== undefined) return said;
    }
    return undefined;
  }

  /** Tells every plugin that it is over, also after one that fails. @throws PluginError the first */
  async afterRun(invocationContext: InvocationContext): Promise<void> {
    const failures: unknown[] = [];
    for (const plugin of this.#plugins) {
      if (!overrides(plugin, 'afterRunCallback')) continue;
      await guarded(plugin.name, 'afterRunCallback', async () =>
        plugin.afterRunCallback({ invocationContext }),
      ).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}

async function guarded<T>(plugin: string, callback: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new PluginError(plugin, callback, error);
  }
}
