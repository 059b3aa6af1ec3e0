import { arcRules, duplicates } from './arc-rules.ts';
import { effectRules, effectsExcludeSoundly } from './effect-rules.ts';
import type { Net } from './net.ts';
import {
  placesAgree,
  placesHaveNames,
  schemasAreSynchronous,
  tokensHavePlaces,
} from './place-rules.ts';

/** Each rule says what is wrong and how to mend it; a net that breaks one does not build. */
type Rule = (of: Net) => readonly string[];

const uniqueNames: Rule = (of) =>
  duplicates(of.transitions.map((t) => t.name)).map(
    (name) => `two transitions are called "${name}": rename one`,
  );

const rulesOfTransitions: Rule = (of) =>
  [...arcRules, ...effectRules].flatMap((rule) =>
    of.transitions.flatMap((t) =>
      rule(t, of).map((problem) => `transition "${t.name}" ${problem}`),
    ),
  );

const rules: readonly Rule[] = [
  uniqueNames,
  placesAgree,
  placesHaveNames,
  tokensHavePlaces,
  schemasAreSynchronous,
  rulesOfTransitions,
  effectsExcludeSoundly,
];

export function buildProblems(of: Net): readonly string[] {
  return rules.flatMap((rule) => rule(of));
}
