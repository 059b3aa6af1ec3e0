/** A command line as one would type it: what a shell would read otherwise is quoted. */
export function formatShellCommand(args: readonly string[]): string {
  return args.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quote(word))).join(' ');
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
