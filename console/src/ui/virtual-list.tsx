import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { VirtualizerOptions } from '@tanstack/virtual-core';
import type { JSX } from 'preact';
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

export interface VirtualListProps {
  readonly count: number;
  /** The height of a row, in pixels. */
  readonly rowHeight: number;
  readonly label: string;
  readonly row: (index: number) => JSX.Element;
}

/** A table body that has elements only for the rows that can be seen. */
export function VirtualList({ count, rowHeight, label, row }: VirtualListProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const [, render] = useReducer((n: number) => n + 1, 0);
  const options: VirtualizerOptions<HTMLDivElement, Element> = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => render(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  return (
    <div class="rows" ref={scroller} role="rowgroup" aria-label={label} tabIndex={0}>
      <div class="rows-inner" style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {virtualizer.getVirtualItems().map(({ index, start, key }) => (
          <div
            key={key}
            class="rows-row"
            role="presentation"
            style={{ height: `${rowHeight}px`, transform: `translateY(${start}px)` }}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  );
}
