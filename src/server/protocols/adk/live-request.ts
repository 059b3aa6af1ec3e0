import * as v from 'valibot';
import {
  InvalidInputError,
  isJsonObject,
  parseContent,
  parseUserContent,
} from '../../../core/index.ts';
import { decodeJson } from '../../../core/index.ts';
import type { Content, Json, JsonObject } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import { parseJsonWithSchema } from '../../../core/validation/parse-with-schema.ts';
import { checkLiveRunConfig, fromAdkContent, isAudio, toCamelKeys } from '../../../adk/internal.ts';
import type { LiveRequest, LiveRunConfig } from '../../../adk/internal.ts';

const anyObject = v.custom<JsonObject>(isJsonObject, 'must be an object');

const liveRequest = v.object({
  blob: v.optional(
    v.object({ mimeType: v.string(), data: v.string(), displayName: v.optional(v.string()) }),
  ),
  content: v.optional(v.custom<Json>((value) => value !== undefined)),
  partial: v.optional(v.boolean()),
  activityStart: v.optional(anyObject),
  activityEnd: v.optional(anyObject),
  audioStreamEnd: v.optional(v.boolean()),
  stateDelta: v.optional(anyObject),
  close: v.optional(v.boolean()),
});

/**
 * Parses a text frame of `/run_live`: ADK's `LiveRequest`, with members in camel case or snake case. Answers to calls
 * and a message in one frame are two requests.
 * @throws InvalidJsonError, InvalidInputError, UnknownFieldError
 */
export function parseLiveRequests(text: string): readonly LiveRequest[] {
  const frame = decodeJson(text, 'request');
  if (!isJsonObject(frame)) throw new InvalidInputError('request', 'must be an object.');
  const value = dropNulls(toCamelKeys(frame));
  const { blob } = value;
  const named = isJsonObject(blob) ? { ...value, blob: dropNulls(toCamelKeys(blob)) } : value;
  const request = parseJsonWithSchema(liveRequest, named, 'request');
  if (
    request.blob !== undefined &&
    isAudio(request.blob) &&
    Buffer.from(request.blob.data, 'base64').length % 2 === 1
  )
    throw new InvalidInputError(
      'request.blob.data',
      'must be PCM with 16 bits; it has an odd number of bytes.',
    );
  const { content, blob: media, activityStart, activityEnd, ...rest } = request;
  const others = omitUndefined({
    ...rest,
    blob: media && { mimeType: media.mimeType, data: media.data },
    activityStart: activityStart && {},
    activityEnd: activityEnd && {},
  });
  if (content === undefined) return [others];
  return toContents(content).map((one, index) =>
    index === 0 ? { ...others, content: one } : { content: one },
  );
}

/** The answers of a message, and the rest of it. */
function toContents(value: Json): readonly Content[] {
  const { parts = [] } = fromAdkContent(value, 'request.content');
  const all = Array.isArray(parts) ? parts : [];
  const isAnswer = (part: Json): boolean =>
    isJsonObject(part) && part['functionResponse'] !== undefined;
  const answers = all.filter(isAnswer);
  const message = all.filter((part) => !isAnswer(part));
  return [
    ...(answers.length > 0 ? [parseContent({ role: 'user', parts: answers })] : []),
    ...(message.length > 0 ? [parseUserContent({ role: 'user', parts: message })] : []),
  ];
}

function dropNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

/** The parameters of `/run_live`. */
export interface RunLiveQuery {
  readonly app: string;
  readonly user: string;
  readonly session: string;
  readonly config: LiveRunConfig;
}

const FLAGS = [
  'proactive_audio',
  'enable_affective_dialog',
  'enable_session_resumption',
  'save_live_blob',
  'explicit_vad_signal',
] as const;
const NAMES = ['app_name', 'user_id', 'session_id'] as const;
const PARAMETERS: readonly string[] = [...NAMES, 'modalities', ...FLAGS];

/** @throws InvalidInputError naming the parameter */
export function parseRunLiveQuery(query: URLSearchParams): RunLiveQuery {
  for (const name of query.keys())
    if (!PARAMETERS.includes(name))
      throw new InvalidInputError(
        `query.${name.slice(0, 64)}`,
        `is unknown. Use some of ${PARAMETERS.join(', ')}.`,
      );
  const read = (name: (typeof NAMES)[number]): string => {
    const value = query.get(name) ?? '';
    if (value !== '') return value;
    throw new InvalidInputError(`query.${name}`, 'is missing.');
  };
  const [app, user, session] = [read('app_name'), read('user_id'), read('session_id')];
  const flag = (name: (typeof FLAGS)[number]): true | undefined => {
    const value = query.get(name) ?? 'false';
    if (value !== 'true' && value !== 'false')
      throw new InvalidInputError(`query.${name}`, 'must be true or false.');
    return value === 'true' ? true : undefined;
  };
  const modalities = query.getAll('modalities').map((one) => one.toUpperCase());
  const responseModalities = modalities.flatMap((one) =>
    one === 'AUDIO' || one === 'TEXT' ? [one] : [],
  );
  if (responseModalities.length < modalities.length)
    throw new InvalidInputError('query.modalities', 'must be AUDIO or TEXT.');
  const isProactive = flag('proactive_audio');
  // A session resumes always.
  flag('enable_session_resumption');
  const config = checkLiveRunConfig(
    omitUndefined({
      responseModalities: modalities.length === 0 ? undefined : responseModalities,
      proactivity: isProactive && { proactiveAudio: true },
      enableAffectiveDialog: flag('enable_affective_dialog'),
      explicitVadSignal: flag('explicit_vad_signal'),
      saveLiveBlob: flag('save_live_blob'),
    }),
    () => {},
  );
  return { app, user, session, config };
}
