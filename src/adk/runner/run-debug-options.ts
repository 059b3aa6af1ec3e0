import { optionTable, type OptionTable } from '../../core/index.ts';
import type { RunConfig } from '../contracts/run-config.ts';

/** The session that messages are sent to, and what is printed. The session is created if it does not exist. */
export interface RunDebugOptions {
  /** Default: `debug_user_id`. */
  readonly userId?: string;
  /** Default: `debug_session_id`. */
  readonly sessionId?: string;
  readonly runConfig?: RunConfig;
  /** Receives each line. Default: nothing is printed. Not called with `quiet`. */
  readonly print?: (line: string) => void;
  readonly quiet?: boolean;
  /** Also prints tool calls and their results. Default: false. */
  readonly verbose?: boolean;
}

/** The options of `runDebug`. */
export const RUN_DEBUG_OPTIONS: OptionTable = optionTable<RunDebugOptions>('runDebug', {
  userId: true,
  sessionId: true,
  runConfig: true,
  print: true,
  quiet: true,
  verbose: true,
});
