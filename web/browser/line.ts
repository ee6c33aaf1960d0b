import { connect, createServer, type Server as Listener, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

/** Line is the way between a browser and the server, which can be cut and joined again. */
export class Line {
  private readonly sockets = new Set<Socket>()
  private joined = true

  private constructor(private readonly listener: Listener, readonly address: string) {}

  /** to makes a line to a server. */
  static async to(address: string): Promise<Line> {
    const port = Number(new URL(address).port)
    const listener = createServer()
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const line = new Line(listener, `http://127.0.0.1:${String((listener.address() as AddressInfo).port)}`)
    listener.on('connection', (near) => { line.take(near, port) })
    return line
  }

  private take(near: Socket, port: number): void {
    if (!this.joined) {
      near.destroy()
      return
    }
    const far = connect(port, '127.0.0.1')
    for (const [one, other] of [[near, far], [far, near]] as const) {
      this.sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        this.sockets.delete(one)
        other.destroy()
      })
    }
  }

  /** cut ends what goes through, and lets nothing begin. */
  cut(): void {
    this.joined = false
    for (const socket of this.sockets) socket.destroy()
  }

  join(): void {
    this.joined = true
  }

  async remove(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.listener.close(resolve))
  }
}
