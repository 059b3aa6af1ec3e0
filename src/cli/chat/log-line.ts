import { contentText } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { formatTime } from '../terminal/duration.ts';
import { jsonText, oneLine } from '../terminal/printable.ts';

/** The longest summary of an event. A screen may cut more. */
const WIDTH = 200;

/** Formats a log event as one line: number, time, type and summary. */
export function formatLogEvent(event: LogEvent): string {
  const { seq, at, type } = event;
  return `${String(seq).padStart(5)}  ${formatTime(at)}  ${type.padEnd(14)}  ${oneLine(summarizeEvent(event), WIDTH)}`.trimEnd();
}

function summarizeEvent(event: LogEvent): string {
  switch (event.type) {
    case 'user.message':
    case 'agent.message':
      return contentText(event.content);
    case 'event.appended':
      return event.event.content === undefined ? '' : contentText(event.event.content);
    case 'tool.call':
      return `${event.name} ${jsonText(event.args)}`;
    case 'tool.attempt':
      return `${event.name}, attempt ${event.attempt}: ${event.reason}`;
    case 'tool.result':
      return `${event.name} ${event.outcome} ${jsonText(event.response)}`;
    case 'tool.pending':
      return `${event.name} ${event.request === undefined ? '' : jsonText(event.request)}`;
    case 'tool.answered':
      return `${event.decision} ${event.message ?? ''}`;
    case 'model.attempt':
      return `attempt ${event.attempt}: ${event.error?.message ?? event.reason}`;
    case 'turn.rescheduled':
      return `attempt ${event.attempt} failed, again in ${event.retryInMs} ms: ${event.error.message}`;
    case 'outcome.defined':
      return event.description;
    case 'outcome.evaluated':
      return `round ${event.iteration} ${event.result}: ${event.explanation}`;
    case 'outcome.ended':
      return event.result;
    case 'turn.ended':
      return event.stopReason;
    case 'turn.waiting':
      return `${event.callIds.length} to answer`;
    case 'state.changed':
      return [...Object.keys(event.delta), ...(event.removed ?? [])].join(', ');
    case 'error':
      return event.message;
    case 'agent.started':
    case 'agent.ended':
    case 'node.started':
    case 'node.ended':
      return event.author;
    case 'session.rewound':
      return `to before ${event.beforeInvocationId}`;
    case 'session.upgraded':
    case 'session.paused':
    case 'session.resumed':
    case 'session.completed':
    case 'session.archived':
    case 'turn.started':
    case 'turn.resumed':
      return '';
    default:
      return event satisfies never;
  }
}
