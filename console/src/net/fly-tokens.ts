import type { DrawnEdge } from './story.ts';

const FLIGHT_MS = 260;
const SAMPLES = 14;
/** Above this many records in a second, tokens do not fly. */
const MOST_PER_SECOND = 20;

let recent: readonly number[] = [];

/** Lets a token move along each edge that a record used. */
export function flyTokens(svg: SVGSVGElement, used: readonly DrawnEdge[]): void {
  const now = performance.now();
  recent = [...recent.filter((at) => now - at < 1000), now];
  if (recent.length > MOST_PER_SECOND) return;
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  for (const { id, kind } of used) {
    const path = svg.querySelector(`[data-edge="${CSS.escape(id)}"]`);
    if (path instanceof SVGPathElement) flyAlong(svg, path, kind === 'reset');
  }
}

function flyAlong(svg: SVGSVGElement, path: SVGPathElement, vanishes: boolean): void {
  const length = path.getTotalLength();
  if (length === 0) return;
  const token = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
  token.setAttribute('r', '4.500');
  token.setAttribute('class', 'net-flying');
  svg.append(token);
  const frames = Array.from({ length: SAMPLES + 1 }, (_, index) => {
    const { x, y } = path.getPointAtLength((length * index) / SAMPLES);
    const opacity = vanishes ? 1 - index / SAMPLES : 1;
    return { transform: `translate(${x}px, ${y}px)`, opacity };
  });
  const flight = token.animate(frames, { duration: FLIGHT_MS, easing: 'ease-in-out' });
  const end = (): void => token.remove();
  flight.finished.then(end, end);
}
