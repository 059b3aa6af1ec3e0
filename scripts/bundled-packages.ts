/**
 * Packages whose used parts the files in `dist/` contain, so that no installation brings them and no import reads
 * their files. `NOTICE` has their licenses. Every other package stays an import.
 */
export const BUNDLED_PACKAGES: readonly string[] = [
  '@cfworker/json-schema',
  '@valibot/to-json-schema',
  'eventsource-parser',
  'valibot',
];
