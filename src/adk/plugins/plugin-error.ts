import { PetrichorError } from '../../core/index.ts';

/**
 * A plugin's callback threw. The operation it was called for was not done.
 * @remedy Correct the callback. `plugin` and `callback` name it, and the cause is its error.
 */
export class PluginError extends PetrichorError {
  override readonly code = 'plugin_failed' as const;
  readonly plugin: string;
  readonly callback: string;

  constructor(plugin: string, callback: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`Plugin "${plugin}" failed in ${callback}: ${reason}`, { cause });
    this.plugin = plugin;
    this.callback = callback;
  }
}
