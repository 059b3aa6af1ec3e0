import type { BasePlugin } from './base-plugin.ts';
import { hasCallback } from './base-plugin.ts';
import type { InvocationContext } from '../contracts/contexts.ts';
import { PluginError } from '../contracts/runner-errors.ts';

/** An app's plugins as they are asked about an invocation as a whole. */
export class PluginChain {
  readonly #plugins: readonly BasePlugin[];

  constructor(plugins: readonly BasePlugin[]) {
    this.#plugins = plugins;
  }

  /** What the first plugin says that says something. @throws PluginError */
  async firstResult<T>(
    callback: 'onUserMessageCallback' | 'beforeRunCallback' | 'onEventCallback',
    call: (plugin: BasePlugin) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    for (const plugin of this.#plugins) {
      if (!hasCallback(plugin, callback)) continue;
      const result = await callPlugin(plugin.name, callback, async () => call(plugin));
      if (result !== undefined) return result;
    }
    return undefined;
  }

  /** Tells every plugin that it is over, also after one that fails. @throws PluginError the first */
  async afterRun(invocationContext: InvocationContext): Promise<void> {
    const failures: unknown[] = [];
    for (const plugin of this.#plugins) {
      if (!hasCallback(plugin, 'afterRunCallback')) continue;
      await callPlugin(plugin.name, 'afterRunCallback', async () =>
        plugin.afterRunCallback({ invocationContext }),
      ).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}

async function callPlugin<T>(plugin: string, callback: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw new PluginError(plugin, callback, error);
  }
}
