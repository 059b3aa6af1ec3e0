import { agent } from '../../src/index.ts';
import type { Agent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

/** The words of a long answer. */
export const WORDS = 1200;
const PER_SECOND = 200;

/** Answers at once, or with `WORDS` words at 200 a second when it is told to talk. */
export const chatter: Agent = agent({
  name: 'chatter',
  description: 'Talks a little, or a lot.',
  model: new ScriptedModel(({ contents }) => {
    const text = JSON.stringify(contents.at(-1));
    if (!text.includes('talk')) return { text: 'Yes.', deltas: 1 };
    const words = Array.from({ length: WORDS }, (_, index) =>
      index % 12 === 0 ? '\n\n- **item** ' : `word${index} `,
    );
    return { text: words.join(''), deltas: words, deltaDelayMs: 1000 / PER_SECOND };
  }),
});
