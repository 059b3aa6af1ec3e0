import type { TimelineLanes } from './timeline-lanes.ts';

export interface TimelineDrawing {
  readonly lanes: TimelineLanes;
  readonly last: number;
  readonly record: number;
  readonly isLive: boolean;
  /** The records at which the session can be forked. */
  readonly points: readonly number[];
}

const MARGIN = 8;
const MOST_LANES = 4;
const LANE = 9;
const TOP = 16;

/** Draws the timeline of a journal. What does not depend on the shown record is drawn once, and then copied. */
export class TimelinePainter {
  readonly #canvas: HTMLCanvasElement;
  readonly #back = document.createElement('canvas');
  #drawn = '';
  #colors = { live: '', past: '' };
  #size = { width: 0, height: 0 };

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
  }

  /** The size is given: reading it from the page would lay the page out in each frame. */
  resize(width: number, height: number): void {
    this.#size = { width, height };
  }

  /** @param theme changes when the colors change */
  draw(drawing: TimelineDrawing, theme: string): void {
    const canvas = this.#canvas;
    const back = this.#back;
    const context = canvas.getContext('2d');
    const backContext = back.getContext('2d');
    const { width, height } = this.#size;
    if (context === null || backContext === null || width === 0) return;
    const ratio = devicePixelRatio;
    const { last, points } = drawing;
    const state = [last, drawing.lanes.last, points.length, width, height, ratio, theme].join();
    if (state !== this.#drawn) {
      this.#drawn = state;
      for (const one of [canvas, back]) {
        one.width = Math.round(width * ratio);
        one.height = Math.round(height * ratio);
      }
      backContext.scale(ratio, ratio);
      const style = getComputedStyle(canvas);
      drawBack(backContext, drawing, { width, height, style });
      // Reading a style computes the styles of the page.
      const color = (name: string): string => style.getPropertyValue(name).trim();
      this.#colors = { live: color('--canvas-busy'), past: color('--canvas-now') };
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(back, 0, 0);
    context.scale(ratio, ratio);
    context.fillStyle = drawing.isLive ? this.#colors.live : this.#colors.past;
    drawNow(context, drawing, { width, height });
  }
}

interface Paper {
  readonly width: number;
  readonly height: number;
  readonly style: CSSStyleDeclaration;
}

/** Marks the record that is shown. */
function drawNow(
  context: CanvasRenderingContext2D,
  { last, record }: TimelineDrawing,
  { width, height }: Omit<Paper, 'style'>,
): void {
  const at = MARGIN + (last === 0 ? 0 : (record / last) * (width - 2 * MARGIN));
  context.fillRect(at - 1, 2, 2, height - 4);
  context.beginPath();
  context.roundRect(at - 5, 0, 10, 9, 3);
  context.fill();
}

/** Draws bars of effects, ticks of pure firings, waits, faults, crashes and fork points. */
function drawBack(
  context: CanvasRenderingContext2D,
  { lanes, last, points }: TimelineDrawing,
  { width, height, style }: Paper,
): void {
  const color = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const colors = {
    line: color('canvas-line'),
    tick: color('canvas-tick'),
    bar: color('canvas-bar'),
    busy: color('canvas-busy'),
    bad: color('canvas-bad'),
    wait: color('canvas-wait'),
    crash: color('canvas-crash'),
    point: color('canvas-point'),
  };
  const space = width - 2 * MARGIN;
  const x = (seq: number): number => MARGIN + (last === 0 ? 0 : (seq / last) * space);
  const perRecord = last === 0 ? space : space / last;
  const base = height - 13;

  for (const { from, to } of lanes.waits) {
    const left = x(from);
    hatch(
      context,
      { left, top: TOP - 8, width: Math.max(4, x(to ?? last) - left), height: base - TOP + 8 },
      colors.wait,
    );
  }
  // Ticks would touch each other: they become a line.
  context.fillStyle = colors.tick;
  if (perRecord >= 3)
    for (let seq = 0; seq <= last; seq++) context.fillRect(x(seq) - 0.5, base - 5, 1, 5);
  else context.fillRect(MARGIN, base - 2, space, 2);
  context.fillStyle = colors.line;
  for (const turn of lanes.turns) context.fillRect(x(turn) - 0.5, TOP - 8, 1, base - TOP + 8);

  for (const { lane, from, to, outcome, attempts } of lanes.bars) {
    const y = TOP + Math.min(lane, MOST_LANES - 1) * (LANE + 3);
    const left = x(from);
    const right = to === undefined ? x(last) : x(to);
    const isBad = outcome !== undefined && outcome !== 'ok' && outcome !== 'cancelled';
    context.fillStyle = isBad ? colors.bad : to === undefined ? colors.busy : colors.bar;
    context.beginPath();
    context.roundRect(left, y, Math.max(3, right - left), LANE, 3);
    context.fill();
    context.fillStyle = colors.bad;
    for (const attempt of attempts) context.fillRect(x(attempt) - 1, y, 2, LANE);
  }
  context.fillStyle = colors.bad;
  for (const seq of lanes.troubles) context.fillRect(x(seq) - 1, base - 9, 2, 9);
  context.fillStyle = colors.crash;
  for (const seq of lanes.owners) bolt(context, x(seq), TOP - 13);
  context.fillStyle = colors.point;
  let drawn = -Infinity;
  for (const point of points) {
    const at = x(point);
    if (at - drawn < 5) continue;
    drawn = at;
    context.beginPath();
    context.arc(at, base + 6, 2.4, 0, 2 * Math.PI);
    context.fill();
  }
}

function hatch(
  context: CanvasRenderingContext2D,
  area: {
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
  },
  color: string,
): void {
  context.save();
  context.beginPath();
  context.rect(area.left, area.top, area.width, area.height);
  context.clip();
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  context.beginPath();
  for (let offset = -area.height; offset < area.width; offset += 6) {
    context.moveTo(area.left + offset, area.top + area.height);
    context.lineTo(area.left + offset + area.height, area.top);
  }
  context.stroke();
  context.restore();
}

function bolt(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.beginPath();
  context.moveTo(x + 2, y);
  context.lineTo(x - 4, y + 7);
  context.lineTo(x, y + 7);
  context.lineTo(x - 2, y + 12);
  context.lineTo(x + 4, y + 5);
  context.lineTo(x, y + 5);
  context.fill();
}
