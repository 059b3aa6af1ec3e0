import { PetrichorError } from '../../core/index.ts';

/**
 * The server, or one of its protocols, needs an optional package that is not installed.
 * @remedy Run the `npm install` command of the message.
 */
export class MissingServerPackageError extends PetrichorError {
  override readonly code = 'missing_package' as const;
  readonly packageName: string;

  constructor(packageName: string, cause: unknown) {
    super(
      packageName === 'hono' || packageName === '@hono/node-server'
        ? `The server requires ${packageName}. Run "npm install hono @hono/node-server": it needs both.`
        : `A protocol of the server requires ${packageName}. Run "npm install ${packageName}".`,
      { cause },
    );
    this.packageName = packageName;
  }
}
