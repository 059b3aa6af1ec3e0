import type { Model } from '../model/model.ts';
import type { ScriptedTurn } from '../scripted/scripted-turn.ts';

/** A model under test that plays scripted responses, one after the other. */
export interface ModelHarness {
  readonly model: Model;
  /** How many requests of the model reached its provider. */
  readonly requestCount: () => number;
  readonly close: () => Promise<void>;
}

/** Opens a model that plays turns. A turn with an error fails at every attempt. */
export type MakeModelHarness = (turns: readonly ScriptedTurn[]) => Promise<ModelHarness>;

/** One requirement of every model, as a check that passes or throws. */
export interface ModelContractCase {
  readonly name: string;
  /** Set for a requirement about thinking. Skip it for a model that never returns its thinking. */
  readonly needs?: 'thinking';
  readonly check: (makeHarness: MakeModelHarness) => Promise<void>;
}

/** Creates a case that runs on a fresh model and always closes it. */
export function modelContractCase(
  name: string,
  turns: readonly ScriptedTurn[],
  check: (harness: ModelHarness) => Promise<void>,
  more: Pick<ModelContractCase, 'needs'> = {},
): ModelContractCase {
  return {
    name,
    ...more,
    check: async (makeHarness) => {
      const harness = await makeHarness(turns);
      try {
        await check(harness);
      } finally {
        await harness.close();
      }
    },
  };
}
