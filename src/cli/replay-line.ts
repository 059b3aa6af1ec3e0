import { formatDuration, formatTime } from './duration.ts';
import type { Flow, ReplayEntry } from './journal-replay.ts';
import type { Paint } from './paint.ts';
import { oneLine } from './printable.ts';

const NAME_WIDTH = 16;
const ABOUT_WIDTH = 60;

/** One line of a replay: the record, when, how long it took, what fired, what it was about, and the tokens it moved. */
export function replayLine(entry: ReplayEntry, paint: Paint): string {
  const { seq, at } = entry;
  const took =
    entry.type === 'firing' && entry.durationMs !== undefined
      ? formatDuration(entry.durationMs)
      : '';
  const head = `${String(seq).padStart(5)}  ${formatTime(at)}  ${took.padStart(9)}`;
  return `${paint('dim', head)}  ${wordsOf(entry, paint)}`.trimEnd();
}

function wordsOf(entry: ReplayEntry, paint: Paint): string {
  const row = (name: string, ...words: readonly string[]): string =>
    [paint('bold', name.padEnd(NAME_WIDTH)), ...words.filter((word) => word !== '')].join('  ');
  switch (entry.type) {
    case 'firing': {
      const flow = `${flowText(entry.take)} → ${flowText(entry.give)}`.trim();
      return row(
        entry.transition,
        outcomeText(entry, paint),
        about(entry.about),
        paint('dim', flow),
      );
    }
    case 'input':
      // What nobody sent is what the net begins with.
      return row(
        entry.key === undefined ? 'begin' : 'input',
        about(entry.about),
        paint('dim', `→ ${flowText(entry.give)}`),
      );
    case 'attempt':
      return row(
        entry.transition,
        paint('yellow', `attempt ${entry.attempt} of #${entry.started}: ${entry.cause}`),
      );
    case 'retry':
      return row(
        entry.transition,
        paint(
          'yellow',
          `failed, tries again at ${formatTime(entry.dueAt)}: ${oneLine(entry.reason, ABOUT_WIDTH)}`,
        ),
      );
    case 'late':
      return row(
        entry.transition,
        paint('dim', `a result for #${entry.started}, which is over: dropped`),
      );
    case 'owner':
      return row(
        'owner',
        paint(
          'yellow',
          `a new owner took the session, the ${entry.epoch}th: ${oneLine(entry.owner, ABOUT_WIDTH)}`,
        ),
      );
    case 'upgrade':
      return row(
        'upgrade',
        paint('yellow', `the net changed: ${entry.from.slice(0, 8)} → ${entry.to.slice(0, 8)}`),
      );
    case 'shared':
      return row(
        'shared state',
        paint('dim', `read: ${oneLine(entry.keys.join(', '), ABOUT_WIDTH) || 'empty'}`),
      );
  }
}

function about(text: string | undefined): string {
  return text === undefined ? '' : oneLine(text, ABOUT_WIDTH);
}

function outcomeText(
  entry: Extract<ReplayEntry, { readonly type: 'firing' }>,
  paint: Paint,
): string {
  const { outcome, reason, attempts = 1 } = entry;
  const tries = attempts === 1 ? '' : ` in attempt ${attempts}`;
  if (outcome === 'fired') return '';
  if (outcome === 'ok') return tries === '' ? '' : paint('yellow', `ok${tries}`);
  const why = reason === undefined ? '' : `: ${oneLine(reason, ABOUT_WIDTH)}`;
  return paint(outcome === 'running' ? 'cyan' : 'yellow', `${outcome}${tries}${why}`);
}

/** `user.in, turn.budget ×25`. */
export function flowText(flow: Flow): string {
  return Object.entries(flow)
    .map(([place, count]) => (count === 1 ? place : `${place} ×${count}`))
    .join(', ');
}
