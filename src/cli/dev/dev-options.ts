import type { CommandCall, Switch } from '../command/command.ts';
import { serveOptions } from '../serve/serve-options.ts';
import type { ServeOptions } from '../serve/serve-options.ts';

/** The options of `serve`. The file is an operand here, and the console is always served. */
type SharedOptions = {
  readonly [
    Name in keyof ServeOptions as string extends Name ? never : Exclude<Name, 'agents' | 'console'>
  ]: ServeOptions[Name];
};

/** The options of `petrichor dev`. */
export type DevOptions = SharedOptions & {
  readonly 'no-open': Switch;
  readonly scripted: Switch;
};

const { agents: _, console: __, ...shared } = serveOptions;

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
