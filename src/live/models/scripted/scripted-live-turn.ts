import {
  checkOptions,
  InvalidInputError,
  optionTable,
  type FinishReason,
  type JsonObject,
  type OptionTable,
  type Usage,
} from '../../../core/index.ts';
import { isRecord } from '../../../core/internal.ts';
import type { ModelErrorKind } from '../../../models/index.ts';

/** One reply of a scripted live model, and what happens around it. */
export type ScriptedLiveTurn = {
  /** The transcript of the user's speech that this turn replies to. */
  readonly heard?: string;
  /** What the model says. Each word is one chunk of audio. */
  readonly text?: string;
  readonly thinking?: string;
  /** Calls after the text. */
  readonly toolCalls?: readonly ScriptedLiveCall[];
  /** Cancels the calls without a result so many milliseconds after the reply. Default: never. */
  readonly cancelCallsAfterMs?: number;
  /** Milliseconds between the end of the user's turn and the reply. Default: 0. */
  readonly delayMs?: number;
  /** Milliseconds between two words, on the clock. Default: 0: faster than real time, as models do. */
  readonly wordDelayMs?: number;
  /** Milliseconds of audio for each word. Default: 200. */
  readonly wordAudioMs?: number;
  readonly usage?: Usage;
  /** Default: `tool_calls` if there are calls, else `stop`. */
  readonly finishReason?: FinishReason;
  /** The reply fails after its text. */
  readonly error?: { readonly code: string; readonly message: string };
  /** Announces, after the reply, that the connection will close. */
  readonly goAway?: { readonly timeLeftMs: number };
  /** The server closes the connection, after the reply or after so many words of it. */
  readonly close?: {
    readonly code: number;
    readonly reason?: string;
    readonly afterWords?: number;
  };
};

/** A call in a scripted turn. */
export type ScriptedLiveCall = {
  readonly id: string;
  readonly name: string;
  readonly args?: JsonObject;
};

/** How one attempt to open a connection ends. */
export type ScriptedOpen = 'accepted' | 'expired' | { readonly error: ModelErrorKind };

/** The script of a live model. */
export type LiveScript = {
  /** The replies in order. The position is that of the handle or of the history, so it survives reconnecting. */
  readonly turns: readonly ScriptedLiveTurn[];
  /** The attempts to open a connection, in order. Later ones are accepted. Default: all are accepted. */
  readonly opens?: readonly ScriptedOpen[];
};

const TURN: OptionTable = optionTable<ScriptedLiveTurn>('turn', {
  heard: true,
  text: true,
  thinking: true,
  toolCalls: true,
  cancelCallsAfterMs: true,
  delayMs: true,
  wordDelayMs: true,
  wordAudioMs: true,
  usage: true,
  finishReason: true,
  error: { code: true, message: true },
  goAway: { timeLeftMs: true },
  close: { code: true, reason: true, afterWords: true },
});

const SCRIPT: OptionTable = optionTable<LiveScript>('script', { turns: true, opens: true });

/**
 * Checks that a script has a list of turns and no unknown fields.
 * @throws InvalidInputError, UnknownFieldError
 */
export function checkLiveScript(script: LiveScript): void {
  if (!isRecord(script) || !Array.isArray(script.turns)) {
    throw new InvalidInputError('script.turns', "must be a list, for example [{ text: 'Hi' }].");
  }
  checkOptions(SCRIPT, script);
  for (const [index, turn] of script.turns.entries()) {
    if (!isRecord(turn))
      throw new InvalidInputError(
        `script.turns[${index}]`,
        "must be a turn such as { text: 'Hi' }.",
      );
    checkOptions({ ...TURN, typeName: `script.turns[${index}]` }, turn);
  }
}
