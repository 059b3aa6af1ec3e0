import { instance } from '@viz-js/viz';
import { readLayout } from './read-layout.ts';

// Lays out graphs away from the page, which stays responsive.
const viz = instance();

addEventListener(
  'message',
  ({ data }: MessageEvent<{ readonly id: number; readonly dot: string }>) => {
    const { id, dot } = data;
    viz
      .then((graphviz) => {
        const json = graphviz.renderJSON(dot, { engine: 'dot', yInvert: true });
        postMessage({ id, layout: readLayout(json) });
      })
      .catch((error: unknown) => {
        postMessage({ id, error: String(error) });
      });
  },
);
