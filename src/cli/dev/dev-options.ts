import type { CommandCall } from '../command/command.ts';
import type { Switch } from '../command/options.ts';
import { serveOptions } from '../serve/serve-options.ts';
import type { ServeOptions } from '../serve/serve-options.ts';

/** The options of `serve` on the command line. The file is an operand here, and the console is always served. */
type SharedOptions = {
  readonly [
    Name in keyof ServeOptions as string extends Name
      ? never
      : Exclude<Name, 'agents' | 'console' | 'config' | 'workers'>
  ]: ServeOptions[Name];
};

/** The options of `petrichor dev`. */
export type DevOptions = SharedOptions & {
  readonly 'no-open': Switch;
  readonly scripted: Switch;
};

const { agents: _, console: __, config: ___, workers: ____, ...shared } = serveOptions;

export const devOptions: DevOptions = {
  ...shared,
  'no-open': {
    type: 'boolean',
    summary: 'Do not open the console in a browser. It is never opened without a terminal or in CI',
  },
  scripted: {
    type: 'boolean',
    summary: 'Answer for all models that agents name, also for those that have a key',
  },
};

export type DevCall = CommandCall<DevOptions>;
