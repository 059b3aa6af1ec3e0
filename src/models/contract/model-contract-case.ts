import type { Model } from '../model/model.ts';
import type { ScriptedTurn } from '../scripted/scripted-turn.ts';

/** What the contract needs of the models it judges: one that gives these answers, one after the other. */
export interface ModelHarness {
  readonly model: Model;
  /** How often the model was asked something that reached its provider. */
  readonly requestCount: () => number;
  readonly close: () => Promise<void>;
}

/** Opens a model that plays turns. A turn with an error fails at its every attempt. */
export type MakeModelHarness = (turns: readonly ScriptedTurn[]) => Promise<ModelHarness>;

/** One promise of a model, as a check that passes or throws. */
export interface ModelContractCase {
  readonly name: string;
  /** Set for a promise that is empty for a model which never shows its thinking. */
  readonly needs?: 'thinking';
  readonly check: (makeHarness: MakeModelHarness) => Promise<void>;
}

/** A case that runs on a model of its own, closed whatever happens. */
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
