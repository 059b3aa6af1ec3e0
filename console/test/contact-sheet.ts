import type { Browser } from 'playwright-core';

export interface SheetLayout {
  readonly columns: number;
  /** The width of one picture on the sheet, in pixels. */
  readonly width: number;
}

const GAP = 8;

/** Returns one picture, as JPEG, of many pictures side by side, each smaller than it was. */
export async function drawSheet(
  browser: Browser,
  pictures: readonly Buffer[],
  { columns, width }: SheetLayout,
): Promise<Buffer> {
  const page = await browser.newPage({
    viewport: { width: columns * (width + GAP) + GAP, height: 100 },
  });
  const images = pictures.map(
    (png) => `<img width="${width}" src="data:image/png;base64,${png.toString('base64')}">`,
  );
  await page.setContent(
    `<body style="margin:0;padding:${GAP}px;background:#808080;display:grid;align-items:start;gap:${GAP}px;grid-template-columns:repeat(${columns},${width}px)">${images.join('')}</body>`,
  );
  const sheet = await page.screenshot({ type: 'jpeg', quality: 78, fullPage: true });
  await page.close();
  return sheet;
}
