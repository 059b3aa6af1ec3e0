/** The path of a run that comes after these. A node that the path has already is a loop: the path begins anew there. */
export function nodePath(path: string, node: string, run: number): string {
  const segments = path.split('/');
  const before = segments.findIndex((segment) => segment.startsWith(`${node}@`));
  return [...(before === -1 ? segments : segments.slice(0, before)), `${node}@${run}`].join('/');
}

/** As far as the paths are the same. */
export function commonPath(paths: readonly string[]): string {
  const [first = [], ...others] = paths.map((path) => path.split('/'));
  const parts = first.findIndex((segment, index) => others.some((path) => path[index] !== segment));
  return first.slice(0, parts === -1 ? first.length : parts).join('/');
}
