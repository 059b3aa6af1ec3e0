import type { Script } from '../peer.ts';

/** `fast` comes first, so that a package that runs calls one by one finishes it too. */
export const crashScript: Script = {
  afterMessage: { paths: ['fast', 'slow'] },
  afterResults: { text: ['FINAL ANSWER'] },
};
