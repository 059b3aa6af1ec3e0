import { test } from 'node:test';
import { crashCanceled, crashConversation } from '../live/live-crashes.ts';

test('a conversation continues after a crash at any write, and before and after its tool', async (t) =>
  crashConversation(t, 1));

test('a call that the model canceled keeps its answer after a crash at any write', async (t) =>
  crashCanceled(t, 1));
