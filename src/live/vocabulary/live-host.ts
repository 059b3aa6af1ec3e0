import { PetrichorError } from '../../core/index.ts';
import { getAgentHost } from '../../agents/internal.ts';
import type { ConversationItem } from '../../agents/index.ts';
import type { LiveModel, LiveOpenRequest } from '../models/live-model.ts';
import type { ConnectionCommand } from './command-places.ts';
import type { Link } from './link-places.ts';

/** A connection to open. */
export interface LinkOpening {
  readonly conn: string;
  readonly model: LiveModel;
  readonly request: LiveOpenRequest;
  readonly signal: AbortSignal;
  /** The agent that it is for. Absent in a session of one agent. */
  readonly agent?: string | undefined;
}

/** A command, with what it needs to know of the session. */
export interface CommandToSend {
  readonly command: ConnectionCommand;
  /** The open connections, oldest first. */
  readonly links: readonly Link[];
  readonly conversation: readonly ConversationItem[];
}

/** The connections and the clients of one session, in the process that owns it. */
export interface LiveHost {
  /** Opens a connection. Its signals are injected in the net. @throws every error of `LiveModel.open` */
  readonly openLink: (opening: LinkOpening) => Promise<void>;
  /** @throws LiveConnectionClosedError, UnsupportedFeatureError */
  readonly sendCommand: (command: CommandToSend) => Promise<void>;
}

/**
 * A live agent runs in a runtime without the option `live`.
 * @remedy Pass a hub: `openRuntime({ live: new LiveHub(), … })`.
 */
export class MissingLiveHubError extends PetrichorError {
  override readonly code = 'missing_live_hub' as const;

  constructor() {
    super(
      'A live agent needs a hub for its connections. Pass one to the runtime: openRuntime({ live: new LiveHub(), … }).',
    );
  }
}

/** The live host of a firing. @throws MissingLiveHubError */
export function getLiveHost(host: unknown): LiveHost {
  const attached = getAgentHost(host)?.attachment;
  if (isLiveHost(attached)) return attached;
  throw new MissingLiveHubError();
}

function isLiveHost(value: unknown): value is LiveHost {
  return (
    typeof value === 'object' && value !== null && 'openLink' in value && 'sendCommand' in value
  );
}
