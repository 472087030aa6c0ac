/** Somebody else who uses the key, at a fixed rate, and never minds an answer. */
import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true });

process.once('disconnect', () => process.exit());
process.once('message', ({ service, every }) => {
  const send = () => {
    const headers = { authorization: `Bearer ${service.key}` };
    request(`${service.url}/store/orders`, { agent, headers }, (response) => response.resume())
      .on('error', () => {})
      .end();
  };
  send();
  setInterval(send, every);
  process.send({ ready: true });
});
