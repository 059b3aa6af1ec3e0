import type { Script } from './peer.ts';

export const QUESTION = 'What do both chapters have in common?';
export const PATHS: readonly string[] = ['docs/chapter-1.md', 'docs/chapter-2.md'];
export const CHAPTER: string = 'It was the best of times, it was the worst of times. '.repeat(4);
const ANSWER = 'Both contrast two cities, and both begin with weather. '.repeat(4);

/** A turn: two calls in one answer, then a text. */
export const twoCalls: Script = {
  afterMessage: { paths: PATHS },
  afterResults: { text: [ANSWER] },
};
