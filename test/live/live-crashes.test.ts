import { test } from 'node:test';
import { crashCanceled, crashConversation } from './live-crashes.ts';

// The long tests crash at every write.
const STRIDE = 3;

test('a conversation continues after a crash at a write, and before and after its tool', async (t) =>
  crashConversation(t, STRIDE));

test('a call that the model canceled keeps its answer after a crash at a write', async (t) =>
  crashCanceled(t, STRIDE));
