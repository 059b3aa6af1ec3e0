import { readFile, rm } from 'node:fs/promises';
import type { PendingCall } from 'petrichor';
import { isJsonObject } from 'petrichor/core';
import type { HostCommand } from './messages.ts';

export interface Decision {
  readonly order: HostCommand;
  /** What the person thought. */
  readonly because: string;
}

/**
 * The person of this demonstration. Asked before a report is written, says yes. Asked because a process died while
 * one was being written, does what only a person can: goes and looks.
 */
export async function decide(call: PendingCall, report: string): Promise<Decision> {
  if (call.reason !== 'crash') {
    return { order: { approve: call.callId }, because: 'yes, write it' };
  }
  const wanted = getReportText(call);
  const found = await readFile(report, 'utf8').catch(() => '');
  if (found === wanted) {
    const message = 'The report is there, whole.';
    const because = `looks: all ${found.length} characters are there → do not run it again`;
    return { order: { deny: call.callId, message }, because };
  }
  await rm(report, { force: true });
  const because = `looks: ${found.length} of ${wanted.length} characters are there → removes them, run it again`;
  return { order: { approve: call.callId }, because };
}

function getReportText({ args }: PendingCall): string {
  return isJsonObject(args) && typeof args['text'] === 'string' ? args['text'] : '';
}
