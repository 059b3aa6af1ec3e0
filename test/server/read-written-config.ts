/** Reads the configuration that the server wrote into the page of the console. */
export function readWrittenConfig(html: string): unknown {
  const [, text = ''] = /<meta name="petrichor-config" content="([^"]*)"/.exec(html) ?? [];
  return JSON.parse(
    text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&'),
  );
}
