import {
  startCuttingProxy,
  type CuttingProxy,
  type ProxiedProtocol,
} from '../postgres/cutting-proxy.ts';

const MYSQL: ProxiedProtocol = {
  port: 3306,
  socketPath: ({ searchParams }) => searchParams.get('socketPath'),
  presence: 'GET_LOCK',
  begin: 'START TRANSACTION',
  end: /(?:COMMIT|ROLLBACK)$/,
};

/** Starts a proxy before a MySQL server. */
export async function startMysqlProxy(url: string): Promise<CuttingProxy> {
  return startCuttingProxy(url, MYSQL);
}

export const isCommit = (bytes: Buffer): boolean => bytes.toString('latin1').endsWith('COMMIT');
