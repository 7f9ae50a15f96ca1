# SPDX-License-Identifier: MIT
"""OpenCV: imdecode, GaussianBlur with the edges repeated or resize, imencode; one thread. Its Lanczos is not antialiased, so that
pictures are shrunk by the mean of areas, which its manual recommends."""

import cv2
import numpy
import peer

PARAMETERS = {'jpeg': [cv2.IMWRITE_JPEG_QUALITY, 85,
                       cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420], 'png': []}


def blur(data, sigma, form):
    picture = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)
    picture = cv2.GaussianBlur(picture, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
    return cv2.imencode('.' + form, picture, PARAMETERS[form])[1].tobytes()


def resize(data, width, form):
    picture = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)
    height = round(picture.shape[0] * width / picture.shape[1])
    kernel = cv2.INTER_AREA if width < picture.shape[1] else cv2.INTER_LANCZOS4
    return cv2.imencode('.' + form, cv2.resize(picture, (width, height), interpolation=kernel), PARAMETERS[form])[1].tobytes()


cv2.setNumThreads(1)
peer.serve(f'OpenCV {cv2.__version__}', blur=blur, resize=resize)
