/**
 * Reports the processor time of a process: `node --import bench/report-usage.ts PROGRAM` writes one line of JSON to the
 * standard error when the program ends. With the environment variable `UNTIL`, the program ends once it has written a
 * line that begins with that text.
 */
export const FOUND_EXIT_CODE = 70;

let importSeconds = 0;

/** Called by a module at its end: the report then says how much the process had used when it was imported. */
export function markImported(): void {
  importSeconds = readSeconds();
}

function readSeconds(): number {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  return (userCPUTime + systemCPUTime) / 1e6;
}

function reportUsage(until: string | undefined): void {
  let firstOutputSeconds: number | undefined;
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (chunk: string | Uint8Array, ...rest: readonly never[]): boolean => {
    firstOutputSeconds ??= readSeconds();
    const written = write(chunk, ...rest);
    if (
      until !== undefined &&
      String(chunk)
        .split('\n')
        .some((line) => line.startsWith(until))
    )
      process.exit(FOUND_EXIT_CODE);
    return written;
  };
  process.on('exit', () => {
    const usage = {
      seconds: readSeconds(),
      firstOutputSeconds,
      importSeconds,
      megabytes: process.resourceUsage().maxRSS / 1024,
    };
    process.stderr.write(`\nusage ${JSON.stringify(usage)}\n`);
  });
}

if (process.execArgv.includes(import.meta.url)) reportUsage(process.env['UNTIL']);
