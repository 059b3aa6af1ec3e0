import { InvalidInputError, optionTable, type OptionTable } from '../../../core/index.ts';
import { checkDefinition } from '../../../core/internal.ts';
import { systemClock, type Clock } from '../../../net/index.ts';
import { LiveHandleExpiredError } from '../live-errors.ts';
import type { LiveModel } from '../live-model.ts';
import { checkLiveConfig } from '../socket/check-live-config.ts';
import { resolveLiveAccess, type LiveAccessOptions } from '../socket/live-access.ts';
import { connectLive } from '../socket/live-connection.ts';
import { LIVE_LIMIT_NAMES, withDefaultLimits, type LiveLimits } from '../socket/live-limits.ts';
import { REALTIME_AUDIO, RealtimeProtocol } from './realtime-protocol.ts';
import { listUnsupportedByRealtime } from './realtime-session.ts';

/** Options of `openaiRealtime`. */
export type OpenaiRealtimeOptions = LiveAccessOptions & {
  /** The model that makes transcripts of the user's speech. Default: `gpt-4o-mini-transcribe`. */
  readonly transcriptionModel?: string;
  /** The name of the model in the log and in errors. Default: `openai/` and the model. */
  readonly name?: string;
  readonly limits?: LiveLimits;
  /** The clock of the timeouts. Default: the system clock. */
  readonly clock?: Clock;
};

/** The options of `openaiRealtime`. */
export const OPENAI_REALTIME_OPTIONS: OptionTable = optionTable<OpenaiRealtimeOptions>(
  'openaiRealtime',
  {
    model: true,
    baseUrl: true,
    apiKey: true,
    env: true,
    modelOrigins: true,
    resolve: true,
    transcriptionModel: true,
    name: true,
    limits: LIVE_LIMIT_NAMES,
    clock: true,
  },
);

const DEFAULT_TRANSCRIPTION_MODEL = 'gpt-4o-mini-transcribe';

/**
 * Creates a live model over OpenAI's Realtime API. It needs the package `ws`. The key is sent in a
 * header, never in the URL.
 *
 * The API cannot resume a conversation: a request with a handle is rejected with
 * `LiveHandleExpiredError`, so that the caller opens a connection with the transcript as history.
 * One minute before the end of a session it reports `go-away`.
 * @throws InvalidInputError, UnknownFieldError for invalid options
 */
export function openaiRealtime(options: OpenaiRealtimeOptions): LiveModel {
  checkDefinition(OPENAI_REALTIME_OPTIONS, options);
  const { model, clock = systemClock, transcriptionModel = DEFAULT_TRANSCRIPTION_MODEL } = options;
  if (model === '') throw new InvalidInputError('model', 'must be the name of a realtime model.');
  const name = options.name ?? `openai/${model}`;
  const limits = withDefaultLimits(options.limits);
  return {
    name,
    open: async (request, context) => {
      const { config = {} } = request;
      checkLiveConfig(name, config, listUnsupportedByRealtime(request), context.listener);
      if (request.handle !== undefined) throw new LiveHandleExpiredError(name);
      const access = await resolveLiveAccess('openai', name, options, context.signal);
      return connectLive({
        model: name,
        access,
        url: toUrl(access.baseUrl, model),
        headers: { authorization: `Bearer ${access.key}` },
        outputAudio: REALTIME_AUDIO,
        limits,
        clock,
        context,
        createProtocol: (host) =>
          new RealtimeProtocol({ name, request, transcriptionModel, clock, host }),
      });
    },
  };
}

function toUrl(baseUrl: URL, model: string): URL {
  const url = new URL(`${baseUrl.pathname.replace(/\/$/, '')}/realtime`, baseUrl);
  url.protocol = baseUrl.protocol === 'http:' ? 'ws:' : 'wss:';
  url.searchParams.set('model', model);
  return url;
}
