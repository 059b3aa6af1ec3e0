import assert from 'node:assert/strict';
import { audioByteLength } from '../../../../src/live/models/audio-format.ts';
import type {
  LiveConnection,
  LiveDiagnostic,
  LiveMedia,
  LiveModel,
  LiveOpenRequest,
  LivePartial,
} from '../../../../src/live/models/live-model.ts';
import { MAX_LIVE_SIGNAL_BYTES, type LiveSignal } from '../../../../src/live/models/live-signal.ts';
import type { LiveScript } from '../../../../src/live/models/scripted/scripted-live-turn.ts';

/** What a protocol may have or not. */
export type LiveFeature =
  | 'resumption'
  | 'go-away'
  | 'call-cancellation'
  | 'reply-errors'
  | 'thinking'
  | 'finish-reasons'
  | 'server-close';

/** A live model under test, whose other side plays a script. */
export interface LiveHarness {
  readonly model: LiveModel;
  readonly close: () => Promise<void>;
}

export type MakeLiveHarness = (script: LiveScript) => Promise<LiveHarness>;

/** One thing that a connection reported. */
type Reported =
  | { readonly signal: LiveSignal }
  | { readonly media: LiveMedia }
  | { readonly partial: LivePartial }
  | { readonly diagnostic: LiveDiagnostic };

/** An open connection, with all that it reported. */
export interface Conversation {
  readonly connection: LiveConnection;
  readonly reported: readonly Reported[];
  readonly signals: () => readonly LiveSignal[];
  readonly media: () => readonly LiveMedia[];
  readonly diagnostics: () => readonly LiveDiagnostic[];
  /** Resolves with the `count`th signal of a kind, once it is reported. */
  readonly until: <K extends LiveSignal['kind']>(
    kind: K,
    count?: number,
  ) => Promise<Extract<LiveSignal, { readonly kind: K }>>;
  /** Resolves when something is reported that the predicate accepts. */
  readonly untilReported: (accepts: (reported: Reported) => boolean) => Promise<void>;
  readonly abort: () => void;
}

/** Opens a connection whose reports are collected. */
export async function converse(
  model: LiveModel,
  request: LiveOpenRequest = {},
  onReport: (reported: Reported) => void = () => undefined,
): Promise<Conversation> {
  const reported: Reported[] = [];
  const waiting = new Set<() => void>();
  const report = (what: Reported): void => {
    reported.push(what);
    for (const check of waiting) check();
    onReport(what);
  };
  const controller = new AbortController();
  const connection = await model.open(request, {
    signal: controller.signal,
    listener: {
      onSignal: (signal) => report({ signal }),
      onMedia: (media) => report({ media }),
      onPartial: (partial) => report({ partial }),
      onDiagnostic: (diagnostic) => report({ diagnostic }),
    },
  });
  const signals = (): readonly LiveSignal[] =>
    reported.flatMap((what) => ('signal' in what ? what.signal : []));
  const waitFor = async <T>(find: () => T | undefined): Promise<T> => {
    const { promise, resolve } = Promise.withResolvers<T>();
    const check = (): void => {
      const found = find();
      if (found === undefined) return;
      waiting.delete(check);
      resolve(found);
    };
    waiting.add(check);
    check();
    return promise;
  };
  return {
    connection,
    reported,
    signals,
    media: () => reported.flatMap((what) => ('media' in what ? what.media : [])),
    diagnostics: () => reported.flatMap((what) => ('diagnostic' in what ? what.diagnostic : [])),
    until: async <K extends LiveSignal['kind']>(kind: K, count = 1) =>
      waitFor(
        () =>
          signals().filter(
            (signal): signal is Extract<LiveSignal, { readonly kind: K }> => signal.kind === kind,
          )[count - 1],
      ),
    untilReported: async (accepts) =>
      waitFor(() => (reported.some(accepts) ? true : undefined)).then(() => undefined),
    abort: () => controller.abort(),
  };
}

/** Sends audio in frames of 20 ms: speech if `loudness` is above 500, else silence. */
export function sendAudio(connection: LiveConnection, durationMs: number, loudness: number): void {
  for (let at = 0; at < durationMs; at += 20) {
    const samples = audioByteLength(connection.inputAudio, 20) / 2;
    const frame = new Int16Array(samples).fill(loudness);
    assert.equal(connection.sendAudio(new Uint8Array(frame.buffer)), true);
  }
}

/** Speaks for 300 ms, and is silent long enough for every model to notice. */
export function speak(connection: LiveConnection): void {
  sendAudio(connection, 300, 4_000);
  sendAudio(connection, 700, 0);
}

/** The texts of a form, joined. */
export function joinSaid(signals: readonly LiveSignal[], reply: string): string {
  return signals
    .map((signal) => (signal.kind === 'said' && signal.reply === reply ? signal.text : ''))
    .join('');
}

/** Checks what holds for every conversation, whatever was reported. */
export function assertLawful({ reported, signals }: Conversation): void {
  const all = signals();
  const begun = new Set<string>();
  const done = new Set<string>();
  const interrupted = new Set<string>();
  let isClosed = false;
  for (const what of reported) {
    assert.equal(isClosed, false, `${JSON.stringify(what)} follows closed`);
    if ('media' in what) {
      const { reply, fromMs, toMs, data } = what.media;
      assert.ok(
        begun.has(reply) && !done.has(reply) && !interrupted.has(reply),
        'media of a reply',
      );
      assert.ok(data.byteLength > 0 && toMs > fromMs);
    }
    if (!('signal' in what)) continue;
    const { signal } = what;
    assert.deepEqual(JSON.parse(JSON.stringify(signal)), signal, 'a signal is JSON');
    assert.ok(Buffer.byteLength(JSON.stringify(signal)) <= MAX_LIVE_SIGNAL_BYTES);
    if (signal.kind === 'begun') {
      assert.equal(begun.size, done.size, 'one reply at a time');
      assert.ok(!begun.has(signal.reply));
      begun.add(signal.reply);
    } else if ('reply' in signal) {
      assert.ok(begun.has(signal.reply) && !done.has(signal.reply), JSON.stringify(signal));
      if (signal.kind === 'said' || signal.kind === 'call') {
        assert.ok(!interrupted.has(signal.reply), JSON.stringify(signal));
      }
      if (signal.kind === 'interrupted') interrupted.add(signal.reply);
      if (signal.kind === 'done') {
        assert.equal(signal.interrupted, interrupted.has(signal.reply));
        done.add(signal.reply);
      }
    }
    if (signal.kind === 'closed') isClosed = true;
  }
  assert.ok(all.filter(({ kind }) => kind === 'closed').length <= 1);
  // What was shown in progress is what was said in the end, nothing more and nothing less.
  for (const reply of begun) {
    for (const form of ['audio', 'text', 'thought']) {
      const shown = reported.map((what) =>
        'partial' in what &&
        what.partial.kind === 'said' &&
        what.partial.reply === reply &&
        what.partial.form === form
          ? what.partial.text
          : '',
      );
      const said = all.map((signal) =>
        signal.kind === 'said' && signal.reply === reply && signal.form === form ? signal.text : '',
      );
      assert.equal(said.join(''), shown.join(''));
    }
  }
}
