import type { IncomingMessage } from 'node:http';

/** Far more faults than anybody injects. */
const MAX_BODY_BYTES = 1024 * 1024;

/** A request that is refused with this status and message. */
export class BadRequest extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

/**
 * The body as JSON. A JSON content type is required: a web page cannot send one to this port without being asked first.
 * @throws BadRequest 400, or 413 for more than 1 MiB; SyntaxError
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  return JSON.parse(await readText(request));
}

/** The same as text. @throws BadRequest as `readJson` */
export async function readText(request: IncomingMessage): Promise<string> {
  if (request.headers['content-type']?.startsWith('application/json') !== true) {
    throw new BadRequest('The body must be application/json.');
  }
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  return (await collect(request)).toString();
}

/** What is over the size is read and ignored, until the answer has ended the connection. */
function collect(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) return void chunks.push(chunk);
      request.off('data', take).resume();
      reject(tooLarge());
    };
    request.on('data', take).once('end', () => resolve(Buffer.concat(chunks)));
    request.once('close', () => reject(new BadRequest('The body is not complete.')));
  });
}

function tooLarge(): BadRequest {
  return new BadRequest(`The body is larger than ${MAX_BODY_BYTES} bytes.`, 413);
}
