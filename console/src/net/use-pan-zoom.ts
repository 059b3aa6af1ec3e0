import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

/** The part of a drawing that is shown, and how to change it. */
export interface PanZoom {
  readonly viewBox: string;
  readonly zoom: (factor: number) => void;
  readonly fit: () => void;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const MARGIN = 24;
/** A drawing is not enlarged beyond this many pixels per unit when it is fitted. */
const MOST_SCALE = 1.25;

/** Lets a person move a drawing by dragging, and change its size with the wheel. */
export function usePanZoom(
  svg: RefObject<SVGSVGElement | null>,
  { width, height }: { readonly width: number; readonly height: number },
): PanZoom {
  const whole = useMemo(
    () => ({ x: -MARGIN, y: -MARGIN, width: width + 2 * MARGIN, height: height + 2 * MARGIN + 14 }),
    [width, height],
  );
  const [box, setBox] = useState<Box | undefined>(undefined);
  // Reading the size from the page each time would lay it out each time.
  const [size, setSize] = useState({ width: 0, height: 0 });
  const fitted = (): Box => fitBox(whole, size);
  const latest = useRef(fitted);
  latest.current = fitted;
  useEffect(() => {
    setBox(undefined);
  }, [whole]);
  useEffect(() => {
    const element = svg.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined)
        setSize({ width: entry.contentRect.width, height: entry.contentRect.height });
    });
    observer.observe(element);
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      const from = toUnits(element, event.clientX, event.clientY);
      setBox((current) =>
        zoomBox(current ?? latest.current(), Math.exp(event.deltaY * 0.0015), from),
      );
    };
    const onDown = (event: PointerEvent): void => {
      if (event.button !== 0) return;
      let last = { x: event.clientX, y: event.clientY };
      const onMove = (move: PointerEvent): void => {
        const scale = unitsPerPixel(element);
        const [dx, dy] = [(move.clientX - last.x) * scale, (move.clientY - last.y) * scale];
        last = { x: move.clientX, y: move.clientY };
        setBox((current) => {
          const from = current ?? latest.current();
          return { ...from, x: from.x - dx, y: from.y - dy };
        });
      };
      const onUp = (): void => {
        removeEventListener('pointermove', onMove);
        removeEventListener('pointerup', onUp);
      };
      addEventListener('pointermove', onMove);
      addEventListener('pointerup', onUp);
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    element.addEventListener('pointerdown', onDown);
    return () => {
      observer.disconnect();
      element.removeEventListener('wheel', onWheel);
      element.removeEventListener('pointerdown', onDown);
    };
  }, [whole]);
  const { x, y, width: w, height: h } = box ?? fitted();
  return useMemo(
    () => ({
      viewBox: `${x} ${y} ${w} ${h}`,
      zoom: (factor) => setBox((current) => zoomBox(current ?? fitted(), 1 / factor)),
      fit: () => setBox(undefined),
    }),
    [x, y, w, h],
  );
}

/** The whole drawing, with more around it when the window is larger. */
function fitBox(whole: Box, size: { readonly width: number; readonly height: number }): Box {
  if (size.width === 0) return whole;
  const width = Math.max(whole.width, size.width / MOST_SCALE);
  const height = Math.max(whole.height, size.height / MOST_SCALE);
  return {
    x: whole.x - (width - whole.width) / 2,
    y: whole.y - (height - whole.height) / 2,
    width,
    height,
  };
}

function zoomBox(
  box: Box,
  factor: number,
  around?: { readonly x: number; readonly y: number },
): Box {
  const center = around ?? { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const limited = Math.min(Math.max(box.width * factor, 120), 20_000) / box.width;
  return {
    x: center.x - (center.x - box.x) * limited,
    y: center.y - (center.y - box.y) * limited,
    width: box.width * limited,
    height: box.height * limited,
  };
}

function toUnits(
  svg: SVGSVGElement,
  x: number,
  y: number,
): { readonly x: number; readonly y: number } {
  const matrix = svg.getScreenCTM();
  return matrix === null ? { x, y } : new DOMPoint(x, y).matrixTransform(matrix.inverse());
}

function unitsPerPixel(svg: SVGSVGElement): number {
  return 1 / (svg.getScreenCTM()?.a ?? 1);
}
