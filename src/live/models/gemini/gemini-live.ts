import { InvalidInputError, optionTable, type OptionTable } from '../../../core/index.ts';
import { checkDefinition } from '../../../core/internal.ts';
import { systemClock, type Clock } from '../../../net/index.ts';
import type { LiveModel } from '../live-model.ts';
import { checkLiveConfig } from '../socket/check-live-config.ts';
import { resolveLiveAccess, type LiveAccessOptions } from '../socket/live-access.ts';
import { connectLive } from '../socket/live-connection.ts';
import { LIVE_LIMIT_NAMES, withDefaultLimits, type LiveLimits } from '../socket/live-limits.ts';
import { GEMINI_OUTPUT_AUDIO, GeminiProtocol } from './gemini-protocol.ts';
import { chooseApiVersion, listUnsupportedByGemini } from './gemini-setup.ts';

/** Options of `geminiLive`. */
export type GeminiLiveOptions = LiveAccessOptions & {
  /** The name of the model in the log and in errors. Default: `gemini/` and the model. */
  readonly name?: string;
  readonly limits?: LiveLimits;
  /** The clock of the timeouts. Default: the system clock. */
  readonly clock?: Clock;
};

/** The options of `geminiLive`. */
export const GEMINI_LIVE_OPTIONS: OptionTable = optionTable<GeminiLiveOptions>('geminiLive', {
  model: true,
  baseUrl: true,
  apiKey: true,
  env: true,
  modelOrigins: true,
  resolve: true,
  name: true,
  limits: LIVE_LIMIT_NAMES,
  clock: true,
});

/**
 * Creates a live model over the Gemini Live API. It needs the package `ws`. The key is sent in a
 * header, never in the URL.
 *
 * Gemini closes a connection after about ten minutes; `go-away` announces it, and the handle
 * resumes the conversation. Close the old connection before you resume: Gemini refuses a handle
 * whose session still has a connection.
 * @throws InvalidInputError, UnknownFieldError for invalid options
 */
export function geminiLive(options: GeminiLiveOptions): LiveModel {
  checkDefinition(GEMINI_LIVE_OPTIONS, options);
  const { model, clock = systemClock } = options;
  if (model === '') throw new InvalidInputError('model', 'must be the name of a live model.');
  const name = options.name ?? `gemini/${model}`;
  const limits = withDefaultLimits(options.limits);
  return {
    name,
    open: async (request, context) => {
      const { config = {} } = request;
      checkLiveConfig(name, config, listUnsupportedByGemini(request), context.listener);
      const access = await resolveLiveAccess('gemini', name, options, context.signal);
      return connectLive({
        model: name,
        access,
        url: toUrl(access.baseUrl, chooseApiVersion(config)),
        headers: { 'x-goog-api-key': access.key },
        outputAudio: GEMINI_OUTPUT_AUDIO,
        limits,
        clock,
        context,
        createProtocol: (host) => new GeminiProtocol(name, model, request, host),
      });
    },
  };
}

function toUrl(baseUrl: URL, version: string): URL {
  const prefix = baseUrl.pathname.replace(/\/(?:v1(?:alpha|beta)?)?\/?$/, '');
  const path = `${prefix}/ws/google.ai.generativelanguage.${version}.GenerativeService.BidiGenerateContent`;
  const url = new URL(path, baseUrl);
  url.protocol = baseUrl.protocol === 'http:' ? 'ws:' : 'wss:';
  return url;
}
