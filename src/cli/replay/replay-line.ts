import { formatDuration, formatTime } from '../terminal/duration.ts';
import type { Flow, ReplayEntry } from './replay-entry.ts';
import type { Paint, Style } from '../terminal/paint.ts';
import { truncate, oneLine } from '../terminal/printable.ts';
import { padColumns, textWidth } from '../terminal/text-width.ts';

const NAME_WIDTH = 14;
const ABOUT_WIDTH = 40;
const REASON_WIDTH = 60;
const GAP = '  ';

/** A part of a line. `plain` text has no style. */
interface Piece {
  readonly text: string;
  readonly style: Style | 'plain';
}

/**
 * Formats a replay entry as one line of at most `width` columns: record, time, duration,
 * transition, subject, and moved tokens.
 */
export function formatReplayEntry(entry: ReplayEntry, paint: Paint, width: number): string {
  let remaining = width;
  const shown: string[] = [];
  for (const { text, style } of [...headPieces(entry), ...bodyPieces(entry)]) {
    if (text === '' || remaining <= 0) continue;
    const piece = truncate(text, remaining);
    remaining -= textWidth(piece) + GAP.length;
    shown.push(style === 'plain' ? piece : paint(style, piece));
  }
  return shown.join(GAP).trimEnd();
}

function headPieces(entry: ReplayEntry): readonly Piece[] {
  const { seq, at } = entry;
  const timed = entry.type === 'firing' && entry.durationMs !== undefined;
  const duration = timed ? formatDuration(entry.durationMs) : '';
  const text = [String(seq).padStart(5), formatTime(at), duration.padStart(9)].join(GAP);
  return [
    { text, style: 'dim' },
    { text: padColumns(getEntryName(entry), NAME_WIDTH), style: 'bold' },
  ];
}

function getEntryName(entry: ReplayEntry): string {
  switch (entry.type) {
    case 'firing':
    case 'attempt':
    case 'retry':
    case 'late':
      return entry.transition;
    case 'input':
      // An input without a key is the initial marking of the net.
      return entry.key === undefined ? 'begin' : 'input';
    case 'owner':
    case 'upgrade':
      return entry.type;
    case 'base':
      return entry.type;
    case 'shared':
      return 'shared state';
    default:
      return entry satisfies never;
  }
}

function bodyPieces(entry: ReplayEntry): readonly Piece[] {
  switch (entry.type) {
    case 'firing':
      return [outcomePiece(entry), aboutPiece(entry.about), flowPiece(entry.take, entry.give)];
    case 'input':
      return [aboutPiece(entry.about), flowPiece({}, entry.give)];
    case 'attempt':
      return [notice(`attempt ${entry.attempt} of #${entry.started}: ${entry.cause}`)];
    case 'retry':
      return [notice(`failed, again at ${formatTime(entry.dueAt)}: ${entry.reason}`)];
    case 'late':
      return [{ text: `dropped a late result of #${entry.started}`, style: 'dim' }];
    case 'owner':
      return [notice(`owner ${entry.epoch} took the session: ${entry.owner}`)];
    case 'upgrade':
      return [notice(`the net changed: ${entry.from.slice(0, 8)} → ${entry.to.slice(0, 8)}`)];
    case 'base':
      return [notice('the records up to this one were removed'), flowPiece({}, entry.tokens)];
    case 'shared':
      return [{ text: `read: ${entry.keys.join(', ') || 'no key'}`, style: 'dim' }];
    default:
      return entry satisfies never;
  }
}

function outcomePiece(entry: Extract<ReplayEntry, { readonly type: 'firing' }>): Piece {
  const { outcome, reason, attempts = 1 } = entry;
  const attempt = attempts > 1 ? ` in attempt ${attempts}` : '';
  const isPlain = outcome === 'fired' || (outcome === 'ok' && attempt === '');
  if (isPlain) return { text: '', style: 'plain' };
  const details = reason === undefined ? '' : `: ${oneLine(reason, REASON_WIDTH)}`;
  const text = `${outcome}${attempt}${details}`;
  return outcome === 'running' ? { text, style: 'cyan' } : notice(text);
}

function aboutPiece(text = ''): Piece {
  return { text: oneLine(text, ABOUT_WIDTH), style: 'plain' };
}

function flowPiece(take: Flow, give: Flow): Piece {
  return { text: `${formatFlow(take)} → ${formatFlow(give)}`.trim(), style: 'dim' };
}

function notice(text: string): Piece {
  return { text: oneLine(text, Infinity), style: 'yellow' };
}

/** Formats a flow, for example `user.in, turn.budget ×25`. */
export function formatFlow(flow: Flow): string {
  return Object.entries(flow)
    .map(([place, count]) => (count === 1 ? place : `${place} ×${count}`))
    .join(', ');
}
