import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SessionEnvironment } from '../../src/managed/index.ts';
import type { ScriptedError, ScriptedTurn } from '../../src/models/index.ts';
import type { FinishReason, JsonObject, Usage } from '../../src/core/index.ts';

/**
 * One scenario as data: an agent, the answers of its model, the steps of a client, and the expected events. `F-1` to
 * `F-8` are the golden ones; the others are named after the promise that they check.
 */
export interface Fixture {
  readonly name: string;
  readonly description: string;
  readonly agent_def: JsonObject;
  readonly environment?: SessionEnvironment;
  readonly scripted_model: { readonly turns: readonly ScriptedTurnJson[] };
  readonly grader?: readonly string[];
  readonly scenario: readonly Step[];
  readonly assertions: {
    readonly exact_sequence?: readonly string[];
    readonly must_contain?: readonly string[];
    readonly must_end_with?: readonly string[];
    /** Complete events, with ids and fingerprints normalized. */
    readonly events?: readonly JsonObject[];
    /** The same for the canonical log. */
    readonly log?: readonly JsonObject[];
    /** Texts in the last request to the model. */
    readonly prompt?: readonly string[];
    readonly status?: string;
    readonly usage?: JsonObject;
  };
  readonly provider_parity?: { readonly providers: readonly string[] };
}

export interface ScriptedTurnJson {
  readonly text?: string;
  readonly tool_calls?: readonly {
    readonly name: string;
    readonly input?: JsonObject;
    readonly id?: string;
  }[];
  readonly error?: ScriptedError;
  readonly usage?: Usage;
  readonly finish_reason?: FinishReason;
  readonly delay_ms?: number;
  readonly delta_delay_ms?: number;
}

/** An event that a client sends, or another step of the scenario. */
export type Step =
  | {
      readonly type: string;
      /** Continues when the log has an event of this type. Default: when the session is idle. */
      readonly until?: string;
      /** The expected error code. */
      readonly refused?: string;
      readonly dedupe_key?: string;
    }
  | { readonly do: 'restart' | 'pause' | 'resume' | 'archive' | 'complete' | 'delete' }
  | { readonly do: 'refused'; readonly action: 'pause' | 'resume' | 'archive' | 'complete' }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'replay' }
  | { readonly do: 'status'; readonly is: string }
  | { readonly do: 'fork' | 'rewind' };

export function readFixtures(): readonly Fixture[] {
  const folder = join(import.meta.dirname, 'fixtures');
  return globSync('*.json', { cwd: folder })
    .toSorted((a, b) => basename(a).localeCompare(basename(b), 'en', { numeric: true }))
    .map((file): Fixture => JSON.parse(readFileSync(join(folder, file), 'utf8')));
}

export function listTurns({ scripted_model: { turns } }: Fixture): readonly ScriptedTurn[] {
  return turns.map(
    ({ tool_calls: calls = [], finish_reason, delay_ms, delta_delay_ms, ...turn }) => ({
      ...turn,
      ...(finish_reason !== undefined && { finishReason: finish_reason }),
      ...(delay_ms !== undefined && { delayMs: delay_ms }),
      ...(delta_delay_ms !== undefined && { deltaDelayMs: delta_delay_ms }),
      ...(calls.length > 0 && {
        toolCalls: calls.map(({ name, input = {}, id }) => ({
          name,
          args: input,
          ...(id !== undefined && { id }),
        })),
      }),
    }),
  );
}
