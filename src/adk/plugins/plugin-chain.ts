import type { BasePlugin } from './base-plugin.ts';
import { hasCallback } from './base-plugin.ts';
import type { InvocationContext } from '../contracts/contexts.ts';
import { PluginError } from './plugin-error.ts';

/** Calls an app's plugins for a whole invocation. */
export class PluginChain {
  readonly #plugins: readonly BasePlugin[];

  constructor(plugins: readonly BasePlugin[]) {
    this.#plugins = plugins;
  }

  /**
   * Calls the plugins in order and returns the first result that is not `undefined`.
   * @throws PluginError if a plugin throws
   */
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

  /**
   * Calls `afterRunCallback` of every plugin, even if one of them throws.
   * @throws PluginError the first error
   */
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
