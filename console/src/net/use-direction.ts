import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Where tokens move in the drawing of a box: a wide box has a wide drawing. */
export function useDirection(box: RefObject<HTMLDivElement | null>): 'LR' | 'TB' {
  const [direction, setDirection] = useState<'LR' | 'TB'>('TB');
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      const { clientWidth, clientHeight } = element;
      if (clientWidth > 0) setDirection(clientWidth > clientHeight * 1.7 ? 'LR' : 'TB');
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return direction;
}
