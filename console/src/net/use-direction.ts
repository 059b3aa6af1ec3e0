import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/**
 * Where tokens move in the drawing of a box: a wide box has a wide drawing. Subnets in boxes stand across the direction
 * in which tokens move, so a drawing with them is wide when tokens move down.
 */
export function useDirection(
  box: RefObject<HTMLDivElement | null>,
  { subnets = false }: { readonly subnets?: boolean } = {},
): 'LR' | 'TB' {
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      const { clientWidth, clientHeight } = element;
      if (clientWidth > 0) setWide(clientWidth > clientHeight * 1.7);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return isWide === subnets ? 'TB' : 'LR';
}
