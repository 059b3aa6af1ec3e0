import type { App } from '../app/app.ts';
import type { PluginChain } from '../plugins/plugin-chain.ts';
import type { RunnerOptions } from './runner-options.ts';

/** What all runs of a runner share. */
export interface RunnerParts {
  readonly app: App;
  readonly options: RunnerOptions;
  readonly plugins: PluginChain;
}
