import { test } from 'node:test';
import { checkKillAtRequest, REQUESTS } from '../vertex-ai/kill-at-request.ts';

// Google's libraries read it.
process.env['GOOGLE_CLOUD_PROJECT'] = 'p1';

for (let nth = 1; nth <= REQUESTS; nth++)
  test(`an event is in Agent Engine once when a process is killed at request ${nth} of a run`, async () =>
    checkKillAtRequest(nth));
