import { spawn } from "node:child_process"

// Asks Tenterhook about an event, with `variables` added to its environment. Resolves to an object with those of the keys
// deny, ask, approve, input, output, context and systemMessage that were decided. Never rejects, and settles within the
// entry's timeout.
function ask(event, payload, variables = {}) {
  const entry = ENTRIES[event]
  if (!entry) return Promise.resolve({})
  return new Promise((resolve) => {
    let child, timer, stdout = "", stderr = "", status = null
    const failed = (why) => {
      clearTimeout(timer)
      const isClosed = entry.command.endsWith("|| exit 2")
      if (isClosed) resolve({ deny: `Tenterhook ${why}: this is refused` })
      else resolve({ systemMessage: stderr.trim() || `Tenterhook ${why}: hooks did not run` })
    }
    const end = () => {
      clearTimeout(timer)
      child.stdout.destroy()
      child.stderr.destroy()
      if (status === 2) return resolve({ deny: stderr.trim() || "Blocked by a hook" })
      if (status !== 0) return failed(`could not answer (status ${status})`)
      try {
        resolve(Object(stdout.trim() ? JSON.parse(stdout) : {}))
      } catch {
        failed("gave no readable answer")
      }
    }
    // without the variables that make a shell run code or change its options when it starts
    const env = Object.entries(process.env).filter(([name]) => !/^(ENV|SHELLOPTS|BASHOPTS|BASH_.*)$/.test(name))
    try {
      // a process group of its own, so that a timeout kills all of it
      const options = { detached: true, stdio: "pipe", env: { ...Object.fromEntries(env), ...variables } }
      child = spawn("/bin/sh", ["-c", entry.command], options)
      child.on("error", () => failed("could not be started"))
      child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text))
      child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text))
      // A background child may hold the pipes open. Its own output is in them by now, and is read before `setImmediate`.
      child.on("exit", (code) => { status = code; setTimeout(() => setImmediate(end), 200) })
      child.on("close", end)
      child.stdin.on("error", () => {}) // it exited without reading stdin
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }))
      timer = setTimeout(() => {
        try { process.kill(-child.pid, "SIGKILL") } catch {} // it has exited
        failed("did not answer in time")
      }, entry.timeout * 1000)
    } catch {
      failed("could not be started")
    }
  })
}
