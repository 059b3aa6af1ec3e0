import {
  checkOptions,
  formatSessionKey,
  InvalidInputError,
  newMessageId,
  optionTable,
} from '../../core/index.ts';
import type { OptionTable, SessionKey } from '../../core/index.ts';
import type {
  AttachableSession,
  AttachmentServices,
  Session,
  SessionAttachments,
} from '../../runtime/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import type { RunConfigJson } from '../../tools/index.ts';
import { LIVE_CONFIG } from '../models/live-config.ts';
import type { LiveConfig } from '../models/live-config.ts';
import { linkStart, linkStop } from '../vocabulary/link-places.ts';
import type { VoiceCall, LiveClient } from './live-client.ts';
import { LiveSessionElsewhereError } from './live-session-elsewhere-error.ts';
import { SessionHub } from './session-hub.ts';
import type { MediaOptions } from './session-hub.ts';

/** Options of a hub. All are milliseconds. */
export interface LiveHubOptions {
  /** The length of a window of audio. Two windows may be queued at the client. Default: 5,000. */
  readonly windowMs?: number;
  /** How much audio of a reply is kept for a slow client before the connection is no longer read. Default: 60,000. */
  readonly maxBufferedMs?: number;
  /** How much audio of the user is kept while no connection is open. Older audio is dropped. Default: 10,000. */
  readonly maxQueuedMs?: number;
  /** How long a session without a client keeps its connection. Default: 30,000. */
  readonly clientTimeoutMs?: number;
}

/** Options of a call. They are stored with it, so that the next connection has them too. */
export interface CallOptions {
  /** Options of its connections. Those of the agent win. Default: those of the agent. */
  readonly config?: LiveConfig;
  /** A resumption handle for the first connection. Default: the newest one of the session. */
  readonly handle?: string;
  /** The run config of its spoken turns. A later call of the session replaces it. Default: none. */
  readonly runConfig?: RunConfigJson;
}

/** The options of a call. */
export const CALL_OPTIONS: OptionTable = optionTable<CallOptions>('call', {
  config: true,
  handle: true,
  runConfig: true,
});

/** The options of `LiveHub`. */
export const LIVE_HUB_OPTIONS: OptionTable = optionTable<LiveHubOptions>('LiveHub', {
  windowMs: true,
  maxBufferedMs: true,
  maxQueuedMs: true,
  clientTimeoutMs: true,
});

/**
 * The media plane of a runtime: connections to live models on one side, clients on the other. Audio flows here and is
 * never journaled. Pass one hub to one runtime, and begin calls with `call`.
 * @example
 * const hub = new LiveHub();
 * const runtime = await openRuntime({ agents: [liveAgent({ … })], live: hub });
 * const call = await hub.call(await runtime.session('demo'), client);
 */
export class LiveHub implements SessionAttachments {
  readonly #options: MediaOptions;
  readonly #sessions = new Map<string, SessionHub>();
  readonly #clients = new Map<string, LiveClient>();
  /** Sessions whose call was hung up before this runtime had them. */
  readonly #hungUp = new Set<string>();
  #services: AttachmentServices | undefined;

  /** @throws InvalidInputError, UnknownFieldError */
  constructor(options: LiveHubOptions = {}) {
    checkOptions(LIVE_HUB_OPTIONS, options);
    const {
      windowMs = 5_000,
      maxBufferedMs = 60_000,
      maxQueuedMs = 10_000,
      clientTimeoutMs = 30_000,
    } = options;
    this.#options = { windowMs, maxBufferedMs, maxQueuedMs, clientTimeoutMs };
    for (const [name, value] of Object.entries(this.#options)) {
      if (!Number.isFinite(value) || value <= 0)
        throw new InvalidInputError(name, `must be milliseconds above 0; it is ${String(value)}.`);
    }
  }

  /** Called by the runtime. */
  readonly onOpened = (services: AttachmentServices): void => {
    this.#services = services;
  };

  /** Called by the runtime. */
  readonly attach = (session: AttachableSession): SessionHub => {
    const name = formatSessionKey(session.key);
    const hub = new SessionHub(session, this.#options, () => {
      if (this.#sessions.get(name) === hub) this.#sessions.delete(name);
    });
    this.#sessions.set(name, hub);
    hub.setClient(this.#clients.get(name));
    if (this.#hungUp.delete(name)) hub.hungUp();
    return hub;
  };

  /**
   * Begins a call: the session gets a live connection, and the client its audio. A second call of a session replaces
   * the client of the first; it keeps the options of the first while there is a connection. Resolves when the request is
   * durable.
   * @throws InvalidInputError, UnknownFieldError for an invalid option, and for an `inputRate` that is not from 8,000 to
   *   48,000
   * @throws LiveSessionElsewhereError when another process has the session and works on it
   * @throws UnknownPlaceError when the session's agent is not a live agent
   * @throws IllegalTransitionError when the session is completed or archived
   */
  async call(session: Session, client: LiveClient, options: CallOptions = {}): Promise<VoiceCall> {
    checkOptions(CALL_OPTIONS, options);
    checkInputRate(client.inputRate);
    const { config, handle, runConfig } = options;
    if (config !== undefined) checkOptions(LIVE_CONFIG, config);
    if ((await this.#services?.isBusyElsewhere(session.key)) === true)
      throw new LiveSessionElsewhereError(session.key.sessionId);
    const name = formatSessionKey(session.key);
    this.#clients.set(name, client);
    this.#hungUp.delete(name);
    this.#sessions.get(name)?.setClient(client);
    try {
      const settings = omitUndefined({ config, handle, runConfig });
      await session.inject(linkStart, settings, { dedupeKey: newMessageId() });
    } catch (error) {
      this.#removeClient(session.key, client);
      throw error;
    }
    const find = (): SessionHub | undefined =>
      this.#clients.get(name) === client ? this.#sessions.get(name) : undefined;
    return {
      get inputAudio() {
        return find()?.inputAudio;
      },
      get isAttached() {
        return find() !== undefined;
      },
      sendAudio: (pcm) => find()?.sendAudio(pcm),
      sendImage: (mimeType, data) => find()?.sendImage(mimeType, data) ?? false,
      audioEnded: () => find()?.audioEnded(),
      speechStarted: () => find()?.edge('started'),
      speechStopped: () => find()?.edge('stopped'),
      played: (reply, playedMs) => find()?.played(reply, playedMs),
      stopped: (reply, playedMs) => find()?.stopped(reply, playedMs),
      hangUp: async () => {
        if (!this.#removeClient(session.key, client)) return;
        const hub = this.#sessions.get(name);
        if (hub === undefined) this.#hungUp.add(name);
        else hub.hungUp();
        await session.inject(linkStop, null, { dedupeKey: newMessageId() });
      },
      leave: () => void this.#removeClient(session.key, client),
    };
  }

  #removeClient(key: SessionKey, client: LiveClient): boolean {
    const name = formatSessionKey(key);
    if (this.#clients.get(name) !== client) return false;
    this.#clients.delete(name);
    this.#sessions.get(name)?.setClient(undefined);
    return true;
  }
}

function checkInputRate(rate: number | undefined): void {
  if (rate === undefined || (Number.isInteger(rate) && rate >= 8_000 && rate <= 48_000)) return;
  throw new InvalidInputError(
    'inputRate',
    `must be whole samples per second from 8,000 to 48,000, such as 16_000; it is ${String(rate)}.`,
  );
}
