// Count down between two looks at the server.

const now = document.querySelector("[data-now]");

function inWords(seconds) {
  const minutes = Math.floor(seconds / 60);
  const rest = String(seconds % 60).padStart(2, "0");
  return minutes < 60 ? `in ${minutes}:${rest}` : null;
}

setInterval(() => {
  const time = now?.querySelector("[data-seconds]");
  if (!time) return;
  const seconds = Number(time.dataset.seconds) - 1;
  const words = inWords(seconds);
  if (seconds < 0 || words === null) return;
  time.dataset.seconds = String(seconds);
  time.textContent = words;
}, 1000);
