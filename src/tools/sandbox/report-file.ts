import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAX_REPORT_LENGTH = 4_096;

/**
 * The file that receives the child's report. It is a file and not a pipe: if this process died
 * during set-up, writing to a broken pipe would end the child halfway and leave its processes
 * behind.
 */
export function openReportFile(): Disposable & {
  readonly fd: number;
  readonly text: () => string;
} {
  const path = join(tmpdir(), `petrichor-report-${randomUUID()}`);
  const fd = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return {
    fd,
    text: () => {
      const bytes = Buffer.alloc(MAX_REPORT_LENGTH);
      return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, 0));
    },
    [Symbol.dispose]: () => closeSync(fd),
  };
}
