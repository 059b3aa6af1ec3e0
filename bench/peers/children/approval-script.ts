import type { Script } from '../peer.ts';

export const oneCall: Script = {
  afterMessage: { paths: ['file'] },
  afterResults: { text: ['FINAL ANSWER'] },
};
