/** Formats a command line for a shell; special characters are quoted. */
export function formatShellCommand(args: readonly string[]): string {
  return args.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quote(word))).join(' ');
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
