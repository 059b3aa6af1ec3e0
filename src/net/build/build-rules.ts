import { arcRules, duplicates } from './arc-rules.ts';
import { effectRules, effectsExcludeSoundly } from './effect-rules.ts';
import type { Net } from '../language/net.ts';
import {
  placesAgree,
  placesHaveNames,
  schemasAreSynchronous,
  tokensHavePlaces,
} from './place-rules.ts';

/** Each rule says what is wrong and how to mend it; a net that breaks one does not build. */
type Rule = (net: Net) => readonly string[];

const uniqueNames: Rule = (net) =>
  duplicates(net.transitions.map((t) => t.name)).map(
    (name) => `two transitions are called "${name}": rename one`,
  );

const transitionRules: Rule = (net) =>
  [...arcRules, ...effectRules].flatMap((rule) =>
    net.transitions.flatMap((t) =>
      rule(t, net).map((problem) => `transition "${t.name}" ${problem}`),
    ),
  );

const rules: readonly Rule[] = [
  uniqueNames,
  placesAgree,
  placesHaveNames,
  tokensHavePlaces,
  schemasAreSynchronous,
  transitionRules,
  effectsExcludeSoundly,
];

export function buildProblems(net: Net): readonly string[] {
  return rules.flatMap((rule) => rule(net));
}
