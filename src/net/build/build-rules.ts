import { arcRules, duplicates } from './arc-rules.ts';
import { effectRules, effectsExcludeSoundly } from './effect-rules.ts';
import { formerNamesAreFree } from '../language/former-names.ts';
import type { Net } from '../language/net.ts';
import {
  placesAgree,
  placesHaveNames,
  schemasAreSynchronous,
  tokensHavePlaces,
} from './place-rules.ts';

/** Returns the problems of a net, each with its fix. A net with a problem does not build. */
type Rule = (net: Net) => readonly string[];

const uniqueNames: Rule = (net) =>
  duplicates(net.transitions.map((t) => t.name)).map(
    (name) => `two transitions have the name "${name}": rename one`,
  );

const transitionRules: Rule = (net) =>
  [...arcRules, ...effectRules].flatMap((rule) =>
    net.transitions.flatMap((t) =>
      rule(t, net).map((problem) => `transition "${t.name}" ${problem}`),
    ),
  );

const rules: readonly Rule[] = [
  uniqueNames,
  formerNamesAreFree,
  placesAgree,
  placesHaveNames,
  tokensHavePlaces,
  schemasAreSynchronous,
  transitionRules,
  effectsExcludeSoundly,
];

/** Checks all build rules and returns every problem found. */
export function buildProblems(net: Net): readonly string[] {
  return rules.flatMap((rule) => rule(net));
}
