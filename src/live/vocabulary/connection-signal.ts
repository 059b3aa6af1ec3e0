import * as v from 'valibot';
import type { FinishReason, Usage } from '../../core/index.ts';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import type { LiveCall } from '../models/live-signal.ts';
import { count, id, signalSchema, smallJson, text } from './signal-schema.ts';

/** What a connection reports to the net. Media is not in it: the net decides which media is played. */
export interface ConnectionSignal {
  readonly conn: string;
  readonly kind: SignalKind;
  /** Of `begun`, `segment`, `call`, `interrupted` and `done`. */
  readonly reply?: string | undefined;
  /** Of `segment` and `transcript`. */
  readonly text?: string | undefined;
  /** Of `segment`: the number of the window of audio that it asks for. */
  readonly window?: number | undefined;
  /** Of `segment`, in milliseconds of the reply's audio. */
  readonly fromMs?: number | undefined;
  /** Of `segment`: the beginning of its window, in milliseconds of the reply's audio. */
  readonly playFromMs?: number | undefined;
  /** Of `begun` and `segment`, in milliseconds of the reply's audio. */
  readonly toMs?: number | undefined;
  /** Of `call`. */
  readonly calls?: readonly LiveCall[] | undefined;
  /** Of `call-canceled`. */
  readonly callIds?: readonly string[] | undefined;
  /** Of `done`. */
  readonly finishReason?: FinishReason | undefined;
  /** Of `done`. */
  readonly usage?: Usage | undefined;
  /** Of `transcript`. */
  readonly utterance?: string | undefined;
  /** Of `transcript`: distinguishes several transcripts of one utterance. */
  readonly part?: number | undefined;
  /** Of `handle`. */
  readonly handle?: string | undefined;
  /** Of `closed`. */
  readonly reason?: string | undefined;
}

const kinds = [
  'begun',
  'segment',
  'transcript',
  'call',
  'call-canceled',
  'interrupted',
  'done',
  'go-away',
  'handle',
  'closed',
] as const;

/** The kinds of signals. */
export type SignalKind = (typeof kinds)[number];

/** The most ids of canceled calls in one signal. */
export const MAX_CANCELED_CALLS = 100;

/** Everything that connections report, late or not. */
export const liveSignal: TokenPlace<ConnectionSignal> = place(
  'live.signal',
  signalSchema<ConnectionSignal>({
    conn: id,
    kind: v.picklist(kinds),
    reply: v.optional(id),
    text: v.optional(text),
    window: v.optional(count),
    fromMs: v.optional(count),
    playFromMs: v.optional(count),
    toMs: v.optional(count),
    calls: v.optional(v.pipe(v.array(smallJson<LiveCall>()), v.maxLength(1_000), v.readonly())),
    callIds: v.optional(v.pipe(v.array(id), v.maxLength(MAX_CANCELED_CALLS), v.readonly())),
    finishReason: v.optional(v.picklist(['stop', 'tool_calls', 'max_tokens', 'refusal', 'other'])),
    usage: v.optional(smallJson<Usage>()),
    utterance: v.optional(id),
    part: v.optional(count),
    handle: v.optional(v.pipe(v.string(), v.maxLength(8_000))),
    reason: v.optional(text),
  }),
  { environment: true, version: 1 },
);
